import type { Snapshot } from '../kernel/snapshot.js';
import type { NavigationView } from './navigation-view.js';

/** The viewer's, oldest first. */
export const loadNavigationViews = ({ caller, repositories }: Snapshot): Promise<readonly NavigationView[]> =>
  repositories.navigationViews.list(caller.realmId, caller.userId);
