import { useLingui } from '@lingui/react';
import { signal } from '@preact/signals-core';
import { useCallback } from 'react';
import { useLoaded } from './loading.js';
import type { Refusal } from './reasons.js';

/** Error of the last command; null if there is none or it was dismissed. */
export const lastFailure = signal<Refusal | null>(null);

/** Confirmation of the last command without a visible effect. A repeated one has a new number. */
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

/** True if the server was unreachable, which the connection line already reports. */
export const isOffline = (error: unknown): boolean => (error as Partial<Refusal> | null)?.code === 'NO_CONNECTION';

/** Shows why a command failed. Other errors go to the console. */
export function reportFailure(error: unknown): void {
  if (!(error instanceof Error)) throw error;
  lastFailure.value = error;
}

/** The composer bundles these too, since they could not be loaded while offline. */
const loadReasons = () => import('./reasons.js').then(({ reasonOf }) => reasonOf);

/** Error text in the page's language; empty without an error and until the texts are loaded. */
export function useReason(refusal: Refusal | null): string {
  const { i18n } = useLingui();
  const reasonOf = useLoaded(loadReasons, refusal !== null);
  const textOf = useRefusals(refusal !== null && !isOffline(refusal));
  return refusal && reasonOf ? reasonOf(refusal, i18n, textOf) : '';
}

/** Function that translates known error messages of the server; null until it is loaded. */
export function useRefusals(isWanted: boolean): ((message: string) => string | null) | null {
  const { i18n } = useLingui();
  const load = useCallback(() => import('./refusals.js').then(({ loadRefusals }) => loadRefusals(i18n)), [i18n]);
  return useLoaded(load, isWanted);
}
