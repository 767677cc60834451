import type { Caller } from '../../kernel/caller.js';
import type { MessageId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { changeFlags, type FlagChangeInput, type FlagChangeOutcome } from '../change-flags.js';

export interface ChangeMessageFlagsInput extends FlagChangeInput {
  readonly ids: readonly MessageId[];
}

/** Marks messages one by one (messages §13.1). */
export class ChangeMessageFlags {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_FLAG, FLAG_NOT_EDITABLE, INVALID_FLAG_OPERATION, UNKNOWN_MESSAGE */
  execute(caller: Caller, { ids, ...change }: ChangeMessageFlagsInput): Promise<FlagChangeOutcome> {
    return this.uow.write(async (tx) => changeFlags(tx, await tx.actors.get(caller), ids, change));
  }
}
