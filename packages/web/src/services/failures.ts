import { signal } from '@preact/signals-core';

/** Reason why the last command was refused, in the server's words; null if none or seen. */
export const lastFailure = signal<string | null>(null);

/** True while the server keeps calls waiting. */
export const isServerBusy = signal(false);

/** Shows why a command was refused. Errors that are no refusals are left to the console. */
export function reportFailure(error: unknown): void {
  if (!(error instanceof Error)) throw error;
  lastFailure.value = error.message;
}
