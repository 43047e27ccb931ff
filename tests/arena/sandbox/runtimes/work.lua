-- A child process, files, garbage.
local file = assert(io.open("/tmp/work", "w"))
file:write("x")
file:close()
for _ = 1, 200 do local _ = ("x"):rep(100000) end
collectgarbage()
local child = assert(io.popen("cat /tmp/work"))
if child:read("a") == "x" and os.remove("/tmp/work") then print("done") end
