import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { requireView } from '../navigation-view.js';
import { publishNavigationView } from '../navigation-view-events.js';

/** Removes a view from one's navigation (users §19). */
export class DeleteNavigationView {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_NAVIGATION_VIEW */
  execute(caller: Caller, { fragment }: { readonly fragment: string }): Promise<void> {
    const { realmId, userId } = caller;
    return this.uow.write(async (tx) => {
      requireView(await tx.navigationViews.list(realmId, userId), fragment);
      await tx.navigationViews.remove(realmId, userId, fragment);
      await publishNavigationView(tx, caller, { type: 'navigation_view.removed', fragment });
    });
  }
}
