// Many goroutines, garbage, a child process, files, timers.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

func main() {
	var all sync.WaitGroup
	var lock sync.Mutex
	kept := 0
	for i := 0; i < 16; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := 0; j < 40; j++ {
				waste := make([]byte, 1<<20)
				lock.Lock()
				kept += len(waste)
				lock.Unlock()
			}
		}()
	}
	all.Wait()
	runtime.GC()
	time.Sleep(time.Millisecond)
	said, err := exec.Command("echo", "x").Output()
	file, bad := os.CreateTemp("", "work")
	if err != nil || bad != nil || string(said) != "x\n" || kept != 16*40<<20 {
		panic(fmt.Sprint(err, bad, kept))
	}
	os.Remove(file.Name())
	fmt.Println("done")
}
