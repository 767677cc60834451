import type { Caller } from '../../../kernel/caller.js';
import type { UnitOfWork } from '../../../kernel/unit-of-work.js';
import type { AllowedDomain } from '../allowed-domain.js';

/** Organization §5. Anybody may know. */
export class ListAllowedDomains {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(caller: Caller): Promise<readonly AllowedDomain[]> {
    return this.uow.read(({ allowedDomains }) => allowedDomains.list(caller.realmId));
  }
}
