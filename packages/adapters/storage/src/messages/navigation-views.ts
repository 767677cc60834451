import { NAVIGATION_VIEW_LIST, type NavigationView } from '@parley/domain/messages';
import { Table } from '../engine/declared-rows.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';

export const NAVIGATION_VIEW_FEATURE = new Table<NavigationView>(NAVIGATION_VIEW_LIST.rows, {
  columns: { fragment: 'text', isPinned: 'flag', name: 'text?' },
  indices: ['UNIQUE INDEX navigation_view_by_fragment ON navigation_view (user_id, fragment)'],
  reusesIds: true,
}).feature(1, 'navigationViews', { data: 'Views in the sidebar', fate: OF_ACCOUNT, erase: 'user_id = {id}' });
