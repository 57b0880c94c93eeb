/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other.c - a libholdfast of another version, as far as the loader looks: it
 * has the public functions, and the private ones under another name.
 */
void hf_client_open(void);
void hf__command_round_run(void);

void hf_client_open(void)
{
}

void hf__command_round_run(void)
{
}
