import { readFileSync } from 'node:fs';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the event loop is looked at; it is never later by less than that. */
const RESOLUTION_MS = 5;
const MEMORY_EVERY_MS = 50;

let delay: IntervalHistogram | null = null;
let peakOwn = 0;

/** Loaded into a server under test before it starts: tells what it has used so far. */
process.on('message', ({ id, name }: { readonly id: number; readonly name: string }) => {
  if (name === 'watch') watch();
  const { user, system } = process.cpuUsage();
  process.send!({
    id,
    value: {
      cpuMs: (user + system) / 1000,
      rss: process.memoryUsage.rss(),
      peakRss: process.resourceUsage().maxRSS * 1024,
      peakOwn,
      worstStallMs: delay ? Math.max(0, delay.max / 1e6 - RESOLUTION_MS) : 0,
    },
  });
});

function watch(): void {
  const lookAtMemory = () => {
    peakOwn = Math.max(peakOwn, ownMemory());
  };
  if (!delay) setInterval(lookAtMemory, MEMORY_EVERY_MS).unref();
  delay ??= monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  delay.reset();
  peakOwn = ownMemory();
}

/** In bytes; all that is resident where the system does not tell apart what is mapped from files. */
function ownMemory(): number {
  try {
    return Number(/^RssAnon:\s*(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'))![1]) * 1024;
  } catch {
    return process.memoryUsage.rss();
  }
}

// Whoever asks does not keep the server alive.
process.channel?.unref();
// Nobody is left to stop it.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
