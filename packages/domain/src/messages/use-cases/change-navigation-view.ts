import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { requireFittingName, requireUnique, requireView } from '../navigation-view.js';
import { publishNavigationView } from '../navigation-view-events.js';

/** Null: as it is. */
export interface ChangeNavigationViewInput {
  readonly fragment: string;
  readonly isPinned: boolean | null;
  readonly name: string | null;
}

/** Pins, unpins or renames a view of one's own (users §19). */
export class ChangeNavigationView {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_NAVIGATION_VIEW, INVALID_NAVIGATION_VIEW_NAME, NAVIGATION_VIEW_EXISTS */
  execute(caller: Caller, { fragment, isPinned, name }: ChangeNavigationViewInput): Promise<void> {
    const { realmId, userId } = caller;
    return this.uow.write(async (tx) => {
      const views = await tx.navigationViews.list(realmId, userId);
      const view = requireView(views, fragment);
      if (name !== null) {
        requireFittingName(fragment, name);
        // Sic: its own name is taken as well.
        requireUnique(views, { fragment: null, name });
      }
      const changes = { ...(isPinned !== null && { isPinned }), ...(name !== null && { name }) };
      if (Object.keys(changes).length === 0) return;
      await tx.navigationViews.put(realmId, userId, { ...view, ...changes });
      await publishNavigationView(tx, caller, { type: 'navigation_view.changed', fragment, changes });
    });
  }
}
