import type { Caller } from '../kernel/ids.js';
import { listing } from '../kernel/personal-list.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import {
  NAVIGATION_VIEW_LIST,
  type NavigationViewFields,
  requireFittingName,
  requireUnique,
  requireView,
} from './navigation-views.js';

/** Lists the caller's views, oldest first (users §19). */
export class ListNavigationViews extends listing(NAVIGATION_VIEW_LIST) {}

/** Adds a view to the caller's navigation (users §19). */
export class CreateNavigationView {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError INVALID_NAVIGATION_VIEW_NAME, NAVIGATION_VIEW_EXISTS, TOO_MANY_NAVIGATION_VIEWS */
  async execute(caller: Caller, view: NavigationViewFields): Promise<void> {
    requireFittingName(view.fragment, view.name);
    await this.uow.write(caller.realmId, async (tx) => {
      requireUnique(await NAVIGATION_VIEW_LIST.list(tx, caller), view);
      await NAVIGATION_VIEW_LIST.add(tx, caller, view);
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
    return this.uow.write(caller.realmId, async (tx) => {
      const views = await NAVIGATION_VIEW_LIST.list(tx, caller);
      const view = requireView(views, fragment);
      if (name !== null) {
        requireFittingName(fragment, name);
        // Deliberate: the reference server also rejects the view's current name.
        requireUnique(views, { fragment: null, name });
      }
      const changes = { ...(isPinned !== null && { isPinned }), ...(name !== null && { name }) };
      if (Object.keys(changes).length === 0) return;
      await tx.navigationViews.update({ ...view, ...changes });
      await NAVIGATION_VIEW_LIST.publish(tx, caller, { type: 'navigation_view.changed', fragment, changes });
    });
  }
}

/** Removes a view from the caller's navigation (users §19). */
export class DeleteNavigationView {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_NAVIGATION_VIEW */
  execute(caller: Caller, { fragment }: { readonly fragment: string }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const view = requireView(await NAVIGATION_VIEW_LIST.list(tx, caller), fragment);
      await NAVIGATION_VIEW_LIST.remove(tx, view);
    });
  }
}
