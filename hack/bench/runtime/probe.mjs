// Loaded into a program before it starts. Says, when the parent process asks, how late the program's event loop was
// since the last time it was asked; watches nothing from `off` on. In JavaScript, so that no type stripping comes
// into a program that needs none.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const nanosecondsPerMillisecond = 1e6;
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

process.on('message', (asked) => {
  const milliseconds = (nanoseconds) => nanoseconds / nanosecondsPerMillisecond;
  process.send({
    p50: milliseconds(delay.percentile(50)),
    p99: milliseconds(delay.percentile(99)),
    max: milliseconds(delay.max),
  });
  delay.reset();
  if (asked === 'off') delay.disable();
});
process.channel.unref();
