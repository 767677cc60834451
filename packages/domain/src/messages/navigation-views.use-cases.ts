import type { Caller } from '../kernel/ids.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import {
  type NavigationView,
  type NavigationViewFields,
  publishNavigationView,
  requireFittingName,
  requireRoomForView,
  requireUnique,
  requireView,
} from './navigation-views.js';

/** Lists the caller's views, oldest first (users §19). */
export class ListNavigationViews {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<readonly NavigationView[]> {
    return this.uow.read(realmId, ({ navigationViews }) => navigationViews.list(realmId, userId));
  }
}

/** Adds a view to the caller's navigation (users §19). */
export class CreateNavigationView {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError INVALID_NAVIGATION_VIEW_NAME, NAVIGATION_VIEW_EXISTS, TOO_MANY_NAVIGATION_VIEWS */
  async execute(caller: Caller, view: NavigationViewFields): Promise<void> {
    const { realmId, userId } = caller;
    requireFittingName(view.fragment, view.name);
    await this.uow.write(realmId, async (tx) => {
      const views = await tx.navigationViews.list(realmId, userId);
      requireUnique(views, view);
      requireRoomForView(views);
      await tx.navigationViews.add({ ...view, realmId, userId });
      await publishNavigationView(tx, caller, { type: 'navigation_view.added', view });
    });
  }
}

/** Null keeps the current value. */
export interface ChangeNavigationViewInput {
  readonly fragment: string;
  readonly isPinned: boolean | null;
  readonly name: string | null;
}

/** Pins, unpins or renames one of the caller's views (users §19). */
export class ChangeNavigationView {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_NAVIGATION_VIEW, INVALID_NAVIGATION_VIEW_NAME, NAVIGATION_VIEW_EXISTS */
  execute(caller: Caller, { fragment, isPinned, name }: ChangeNavigationViewInput): Promise<void> {
    const { realmId, userId } = caller;
    return this.uow.write(realmId, async (tx) => {
      const views = await tx.navigationViews.list(realmId, userId);
      const view = requireView(views, fragment);
      if (name !== null) {
        requireFittingName(fragment, name);
        // Deliberate: the reference server also rejects the view's current name.
        requireUnique(views, { fragment: null, name });
      }
      const changes = { ...(isPinned !== null && { isPinned }), ...(name !== null && { name }) };
      if (Object.keys(changes).length === 0) return;
      await tx.navigationViews.update({ ...view, ...changes });
      await publishNavigationView(tx, caller, { type: 'navigation_view.changed', fragment, changes });
    });
  }
}

/** Removes a view from the caller's navigation (users §19). */
export class DeleteNavigationView {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_NAVIGATION_VIEW */
  execute(caller: Caller, { fragment }: { readonly fragment: string }): Promise<void> {
    const { realmId, userId } = caller;
    return this.uow.write(realmId, async (tx) => {
      const { id } = requireView(await tx.navigationViews.list(realmId, userId), fragment);
      await tx.navigationViews.remove(realmId, userId, id);
      await publishNavigationView(tx, caller, { type: 'navigation_view.removed', fragment });
    });
  }
}
