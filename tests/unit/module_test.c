/* SPDX-License-Identifier: Apache-2.0 */
/* module_test.c - where modules are looked for: this program is static. */
#include <string.h>

#include "holdfast/base.h"
#include "records/module.h"
#include "support/test.h"

TEST(module_next_to_a_static_program_is_not_loaded)
{
    const hf__backend_module *module = NULL;
    hf_error error = HF_ERROR_INIT;

    assert_int_equal(hf__module_load("stray", &module, &error), HF_UNSUPPORTED);
    assert_non_null(strstr(error.message, "package libholdfast-stray"));
}
