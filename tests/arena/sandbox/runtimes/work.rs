// Threads, a channel, a child process, files.
use std::{fs, process::Command, sync::mpsc, thread, time::Duration};

fn main() {
    let (send, heard) = mpsc::channel();
    let threads: Vec<_> = (0..8)
        .map(|i| {
            let send = send.clone();
            thread::spawn(move || {
                for _ in 0..20 {
                    send.send(vec![i as u8; 1 << 20].len()).unwrap();
                }
            })
        })
        .collect();
    drop(send);
    assert_eq!(heard.iter().sum::<usize>(), 8 * 20 << 20);
    for thread in threads {
        thread.join().unwrap();
    }
    thread::sleep(Duration::from_millis(1));
    assert!(Command::new("true").status().unwrap().success());
    fs::write("/tmp/work", "x").unwrap();
    fs::copy("/tmp/work", "/tmp/work2").unwrap();
    fs::remove_file("/tmp/work2").unwrap();
    println!("done");
}
