import { type RegisterSection, registerSection } from '../events/register-section.js';
import type { SectionParts } from '../feature.js';
import { PresentedText } from '../kernel/json-lists.js';
import { publicRealmOf } from '../realms/public-realm.js';
import { PRESENCES } from './presence.answers.js';
import { lastUpdateIdOf, presenceFormOf, presentPresences } from './presence.presenters.js';

const DEFAULT_HISTORY_DAYS = 14;
const SECONDS_PER_DAY = 86_400;

export const presenceSection = ({ realmUrls, presence }: SectionParts): RegisterSection =>
  registerSection({
    name: 'presence',
    fields: PRESENCES,
    forSpectators: 'likeGuests',
    load: async ({ repositories, caller }, { presenceHistoryDays, now, isSpectator }) => {
      const days = presenceHistoryDays ?? DEFAULT_HISTORY_DAYS;
      const since = now - days * SECONDS_PER_DAY;
      if (days <= 0 || isSpectator) return { entries: [], knownIds: null, isDisabled: isSpectator };
      const { entries, ...rest } = await presence.listFor(repositories, caller, { after: null, since });
      // Who does not want to be seen is left out (events §4.5).
      return { ...rest, entries: entries.filter(({ user }) => user.settings.presenceEnabled) };
    },
    present: (list, { realm, presentation, now }) => ({
      presences: new PresentedText(
        presentPresences(list, presenceFormOf(presentation), publicRealmOf(realm, realmUrls)),
      ),
      presence_last_update_id: lastUpdateIdOf(list),
      server_timestamp: now,
    }),
  });
