import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';

export interface CreateCallInput {
  /** As people call it. */
  readonly provider: 'Zoom' | 'Constructor Groups' | 'Nextcloud Talk' | 'Webex';
}

/** A call at a provider that the server would need an account with, and has none (organization §20). */
export class CreateCall {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError USER_DEACTIVATED, CALL_PROVIDER_UNAVAILABLE */
  async execute(caller: Caller, { provider }: CreateCallInput): Promise<never> {
    await this.uow.read(({ actors }) => actors.get(caller));
    throw new DomainError('CALL_PROVIDER_UNAVAILABLE', `${provider} credentials have not been configured`);
  }
}
