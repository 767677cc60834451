import type { NavigationView } from '@parley/domain/messages';

/** Users §19; of changes, what they hold. */
export const presentNavigationView = ({ isPinned, ...view }: Partial<NavigationView>) => ({
  ...view,
  ...(isPinned !== undefined && { is_pinned: isPinned }),
});
