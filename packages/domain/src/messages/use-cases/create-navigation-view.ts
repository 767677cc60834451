import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type NavigationView, requireFittingName, requireRoomForView, requireUnique } from '../navigation-view.js';
import { publishNavigationView } from '../navigation-view-events.js';

/** Adds a view to one's navigation (users §19). */
export class CreateNavigationView {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError INVALID_NAVIGATION_VIEW_NAME, NAVIGATION_VIEW_EXISTS, TOO_MANY_NAVIGATION_VIEWS */
  async execute(caller: Caller, view: NavigationView): Promise<void> {
    const { realmId, userId } = caller;
    requireFittingName(view.fragment, view.name);
    await this.uow.write(async (tx) => {
      const views = await tx.navigationViews.list(realmId, userId);
      requireUnique(views, view);
      requireRoomForView(views);
      await tx.navigationViews.put(realmId, userId, view);
      await publishNavigationView(tx, caller, { type: 'navigation_view.added', view });
    });
  }
}
