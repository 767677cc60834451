import { useLingui } from '@lingui/react';
import { signal } from '@preact/signals-core';
import { useCallback } from 'react';
import { useLoaded } from './loading.js';
import type { Refusal } from './reasons.js';

/** Refusal of the last command; null if none or seen. */
export const lastFailure = signal<Refusal | null>(null);

/** Confirmation of the last command whose effect is not on screen. A repeated one has another number. */
export const lastDone = signal({ text: '', number: 0 });

const SHOWN_MS = 5000;

/** Confirms a command for some seconds. */
export function reportDone(text: string): void {
  const number = lastDone.peek().number + 1;
  lastDone.value = { text, number };
  setTimeout(() => {
    if (lastDone.peek().number === number) lastDone.value = { text: '', number };
  }, SHOWN_MS);
}

/** True while the server keeps calls waiting. */
export const isServerBusy = signal(false);

/** True if the server was not reached, which a line of the page says already. */
export const isOffline = (error: unknown): boolean => (error as Partial<Refusal> | null)?.code === 'NO_CONNECTION';

/** Shows why a command was refused. Errors that are no refusals are left to the console. */
export function reportFailure(error: unknown): void {
  if (!(error instanceof Error)) throw error;
  lastFailure.value = error;
}

/** The field in which users write has them too: without a connection they could not be loaded. */
const loadReasons = () => import('./reasons.js').then(({ reasonOf }) => reasonOf);

/** Reason of a refusal in the language of the page; empty without one and until the texts are loaded. */
export function useReason(refusal: Refusal | null): string {
  const { i18n } = useLingui();
  const reasonOf = useLoaded(loadReasons, refusal !== null);
  const textOf = useRefusals(refusal !== null && !isOffline(refusal));
  return refusal && reasonOf ? reasonOf(refusal, i18n, textOf) : '';
}

/** Function that translates the server's words for a refusal, where it knows them; null until it is loaded. */
export function useRefusals(isWanted: boolean): ((message: string) => string | null) | null {
  const { i18n } = useLingui();
  const load = useCallback(() => import('./refusals.js').then(({ loadRefusals }) => loadRefusals(i18n)), [i18n]);
  return useLoaded(load, isWanted);
}
