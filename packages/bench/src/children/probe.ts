/** Loaded into a server under test before it starts: tells what it has used so far. */
process.on('message', ({ id }: { readonly id: number }) => {
  const { user, system } = process.cpuUsage();
  process.send!({ id, value: { cpuMs: (user + system) / 1000, rss: process.memoryUsage.rss() } });
});
// Whoever asks does not keep the server alive.
process.channel?.unref();
// Nobody is left to stop it.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
