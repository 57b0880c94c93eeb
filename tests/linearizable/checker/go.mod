// SPDX-License-Identifier: Apache-2.0
module holdfast/linearizable

go 1.19

require github.com/anishathalye/porcupine v1.3.1
