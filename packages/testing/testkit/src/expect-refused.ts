import type { MemoryFixture } from './builders.js';

/** Expects an error with at least these properties, and no trace of the attempt, not even an empty commit. */
export async function expectRefused(
  { storage }: Pick<MemoryFixture, 'storage'>,
  attempt: () => Promise<unknown>,
  refusal: { readonly code?: string; readonly message?: string; readonly details?: object },
): Promise<void> {
  const { commits } = storage;
  await expect(attempt()).rejects.toMatchObject({ name: 'DomainError', ...refusal });
  expect(storage.commits).toBe(commits);
}
