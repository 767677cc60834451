import { NAVIGATION_VIEW_ROWS, type NavigationView } from '@parley/domain/messages';
import { userRows } from '../engine/user-rows.js';

export const NAVIGATION_VIEW_FEATURE = userRows<'navigationViews', NavigationView>(
  'navigationViews',
  NAVIGATION_VIEW_ROWS,
  {
    step: 1,
    columns: { fragment: 'text', isPinned: 'flag', name: 'text?' },
    uniqueIndices: { navigation_view_by_fragment: 'user_id, fragment' },
    reusesIds: true,
  },
);
