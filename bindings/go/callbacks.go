// SPDX-License-Identifier: Apache-2.0

package holdfast

/*
#include <stdint.h>
#include <holdfast.h>
*/
import "C"

import "runtime/cgo"

//export holdfastLost
func holdfastLost(handle C.uintptr_t, reason C.int) {
	hold := cgo.Handle(handle).Value().(*Hold)
	select {
	case hold.lost <- Status(reason):
	default: // reported before
	}
}

//export holdfastFill
func holdfastFill(handle C.uintptr_t, fill *C.hf_cache_fill) {
	cgo.Handle(handle).Value().(*filling).run(fill)
}
