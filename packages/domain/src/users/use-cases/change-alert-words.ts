import { users } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { parseAlertWords, requireRoomForAlertWords } from '../alert-words.js';

export interface ChangeAlertWordsInput {
  readonly op: 'add' | 'remove';
  readonly words: readonly string[];
}

/** Words of which somebody wants to know when they are said (users §10). Answers all of theirs. */
export class ChangeAlertWords {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError TOO_MANY_ALERT_WORDS */
  execute({ realmId, userId }: Caller, { op, words: raw }: ChangeAlertWordsInput): Promise<readonly string[]> {
    return this.uow.write(async (tx) => {
      const given = parseAlertWords(raw);
      if (op === 'add') await tx.alertWords.add(realmId, userId, given);
      else await tx.alertWords.remove(realmId, userId, given);
      const words = await tx.alertWords.list(realmId, userId);
      if (op === 'add') requireRoomForAlertWords(words.length);
      // Announced also when nothing has changed.
      await tx.events.append(realmId, { event: { type: 'alert_words.changed', words }, audience: users([userId]) });
      return words;
    });
  }
}
