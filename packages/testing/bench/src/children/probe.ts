import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ProcessUsage } from '@parley/testkit/process-usage';

/** Loaded into a measured server before it starts; reports resource usage. */

let watched: ProcessUsage | null = null;
let ownBefore = 0;

process.on('message', ({ id, name }: { readonly id: number; readonly name: string }) => {
  if (name === 'usageAtExit') {
    process.on('exit', () => report(id));
    return;
  }
  if (name === 'watch') {
    watched ??= new ProcessUsage();
    watched.reset();
    ownBefore = watched.peakBytes;
  }
  if (name === 'collect') {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
  }
  report(id);
});

function report(id: number): void {
  const { heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send!({
    id,
    value: {
      cpuMs: (user + system) / 1000,
      heldBytes: heapUsed + external,
      rss: process.memoryUsage.rss(),
      peakRss: process.resourceUsage().maxRSS * 1024,
      ownPeak: watched?.peakBytes ?? 0,
      growth: watched ? watched.peakBytes - ownBefore : 0,
      worstStallMs: watched?.stallMs ?? 0,
    },
  });
}

// The channel must not keep the server alive.
process.channel?.unref();
// Without its parent, no process would stop it.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
