import type { Caller } from '../../kernel/caller.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { canExport } from '../../realms/realm-permissions.js';
import { type ExportView, viewOfExport } from '../export-events.js';

/** The organization's exports, whoever asked for them; ascending id (organization §8). */
export class ListExports {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR */
  execute(caller: Caller): Promise<readonly ExportView[]> {
    return this.uow.read(async ({ actors, exports }) => {
      const actor = await actors.get(caller);
      enforce(canExport(actor));
      return (await exports.list(actor.realmId)).map(viewOfExport);
    });
  }
}
