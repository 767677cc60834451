import type { Snapshot } from '../kernel/snapshot.js';
import { MAX_SNIPPETS, type Snippet } from './snippet.js';

/** The viewer's, oldest first. */
export const loadSnippets = ({ caller, repositories }: Snapshot): Promise<readonly Snippet[]> =>
  repositories.snippets.list(caller.realmId, caller.userId, MAX_SNIPPETS);
