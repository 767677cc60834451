import type { RuleFault } from './rule-faults.js';

/** Fault that changes no behavior, so no test can detect it. */
export interface Equivalent extends Pick<RuleFault, 'source' | 'text' | 'replacement'> {
  readonly reason: string;
}

export const EQUIVALENTS: readonly Equivalent[] = [
  {
    source: 'messages/message-permissions.ts',
    text: 'isResolved',
    replacement: 'true',
    reason: 'A topic without the prefix never equals one that starts with it.',
  },
  {
    source: 'channels/post-permissions.ts',
    text: '!somebodyAuthorizes',
    replacement: 'true',
    reason: 'Nobody authorizes if the permission belongs to the group without members.',
  },
];
