--[[
enqueue - put an entry into the queue.

clock    the store's clock, us, in 16 digits
began    when the caller began to wait, us; 0: now
rank     how far to move it forward, us
entry    to queue
waiters  sorted set of entries by when they began to wait
]]
local since = began == '0' and clock or began
call('zadd', waiters, rank == '0' and since or since - rank, entry)
call('pexpire', waiters, 360000)
