# Pipes, named ones too, children in the background, files.
set -e
one=$(printf 'b\na\n' | sort | head -n 1)
printf x > /tmp/one
cp /tmp/one /tmp/two
mkfifo /tmp/pipe
cat /tmp/two > /tmp/pipe &
read -r two < /tmp/pipe || true
wait
sleep 0.01
[ "$one$two" = ax ] && echo done
