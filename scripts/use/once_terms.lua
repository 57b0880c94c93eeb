-- SPDX-License-Identifier: Apache-2.0
--[[
once_terms - read on what terms work is claimed: `F/K/R/P/E` has a fingerprint,
hexadecimal or empty; for how long the record is kept after the lease, ms; 1 if
work in doubt may be claimed; the period, ms, 0: none; and how long before it a
tick begins, ms. `tick` is the instant of the one asked for, a multiple of the
period, in Unix ms of the store; 0: without a period.

terms  the text
asked  when the work was first asked for, us of the store's clock
]]
local digest, keep, retry, period, early = string.match(terms, '^(%x*)/(%d+)/(%d)/(%d+)/(%d+)$')
local tick = period ~= '0' and string.format('%.0f',
    math.floor((asked / 1000 + early) / period) * period) or '0'
