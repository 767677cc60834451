export default async function endTestRun(): Promise<void> {
  await globalThis.parleyTestServer?.stop();
}
