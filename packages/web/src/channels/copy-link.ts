import { reportFailure } from '../services/failures.js';

/** Puts the full address of a place in the clipboard. */
export function copyLink(baseUrl: string, hash: string): void {
  navigator.clipboard.writeText(baseUrl + hash).catch(reportFailure);
}
