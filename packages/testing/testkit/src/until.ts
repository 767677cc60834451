const DEADLINE_MS = 120_000;
const PAUSE_MS = 5;

/** Waits for a background change. @throws Error after two minutes */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('Timed out waiting for the condition');
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
