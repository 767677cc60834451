import type { WritableRepositories } from './engine/feature.js';
import type { SlicedSets } from './engine/time-slices.js';

const sets = (...positions: readonly number[]): SlicedSets => ({ positions, size: 500 });
const largeSets = (size: number, ...positions: readonly number[]): SlicedSets => ({ positions, size });

/** Calls whose sets may contain all users, channels or messages of a request. */
export const SLICED_CALLS = {
  actors: { list: sets(1) },
  bots: { listOptions: sets(1) },
  botStorage: { list: largeSets(200, 2), put: largeSets(200, 2) },
  channels: {
    filterSubscribed: sets(2),
    // Compares each channel with up to 1,000 subscribers.
    filterWithAll: largeSets(50, 1),
    filterWithGuestSubscribers: sets(1),
    listColors: sets(1),
    listSubscribers: largeSets(100, 1),
    listSubscriptionsOf: largeSets(1000, 1),
    putSubscriptions: sets(0),
  },
  copies: { putFlags: largeSets(1000, 1) },
  importedRecords: { put: sets(1) },
  groups: { list: sets(1), removeAnonymous: largeSets(200, 1) },
  messages: { list: largeSets(2000, 1) },
  personal: {
    addHistorical: largeSets(2000, 1),
    filterMuting: sets(1),
    listFlags: largeSets(2000, 1),
    listFlagsOf: largeSets(5000, 1),
    closeSpans: sets(1, 2),
    openSpans: sets(1, 2),
    setFlag: largeSets(2000, 1),
    setRead: largeSets(2000, 1),
  },
  pages: { listViews: largeSets(200, 1) },
  presence: { put: sets(1) },
  users: { areConversationPartners: largeSets(10_000, 1), list: sets(1), listActiveIds: sets(1) },
} satisfies {
  readonly [R in keyof WritableRepositories]?: { readonly [M in keyof WritableRepositories[R]]?: SlicedSets };
};
