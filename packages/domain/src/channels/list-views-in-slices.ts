import type { ChannelId, RealmId } from '../shared/ids.js';
import { slicesOf } from '../shared/slices.js';
import { sortByCodePoints } from '../shared/text.js';
import type { Repositories } from '../shared/unit-of-work.js';
import type { ChannelView } from './channel.js';

/** Read at once; the event loop may turn before the next ones. */
const CHANNELS_AT_A_TIME = 200;

/** Of as many channels as there are; by name in code-point order. */
export async function listViewsInSlices(
  repositories: Repositories,
  realmId: RealmId,
  ids: readonly ChannelId[],
): Promise<readonly ChannelView[]> {
  const views: ChannelView[] = [];
  for (const slice of slicesOf(ids, CHANNELS_AT_A_TIME)) {
    await repositories.yield();
    for (const view of await repositories.channels.listViews(realmId, slice)) views.push(view);
  }
  return sortByCodePoints(views, ({ name }) => name);
}
