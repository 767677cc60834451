/**
 * Collects all garbage and returns free pages to the system, which V8 would otherwise keep. Takes tens of milliseconds.
 * Only the debugger's collection returns pages, not `gc()`; without the inspector this is a no-op.
 */
export async function collectGarbage(): Promise<void> {
  if (!process.features.inspector) return;
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
