import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { NavigationView } from '../navigation-view.js';

/** One's own, oldest first (users §19). */
export class ListNavigationViews {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<readonly NavigationView[]> {
    return this.uow.read(({ navigationViews }) => navigationViews.list(realmId, userId));
  }
}
