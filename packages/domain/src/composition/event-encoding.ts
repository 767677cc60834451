import { ALERT_WORD_EVENT_FORMATS } from '../alert-words/alert-word-events.js';
import { BOT_EVENT_FORMATS } from '../bots/bot-events.js';
import { CHANNEL_EVENT_FORMATS } from '../channels/channel-events.js';
import { CHANNEL_FOLDER_EVENT_FORMATS } from '../channels/channel-folder-events.js';
import { CUSTOM_EMOJI_EVENT_FORMATS } from '../custom-emoji/custom-emoji-events.js';
import { DRAFT_EVENT_FORMATS } from '../drafts/draft-events.js';
import { BASE_EVENT_FORMATS, type DomainEventTypes, type EventFormats } from '../events/event.js';
import { eventEncoding } from '../events/event-format.js';
import { EXPORT_EVENT_FORMATS } from '../exports/export-events.js';
import { FILE_EVENT_FORMATS } from '../files/file-events.js';
import { GROUP_EVENT_FORMATS } from '../groups/group-events.js';
import { INVITATION_EVENT_FORMATS } from '../invitations/invitation.js';
import { MESSAGE_EVENT_FORMATS } from '../messages/message-events.js';
import { MUTED_USER_EVENT_FORMATS } from '../muted-users/muted-user-events.js';
import { NAVIGATION_VIEW_EVENT_FORMATS } from '../navigation-views/navigation-view-events.js';
import { ONBOARDING_EVENT_FORMATS } from '../onboarding/onboarding-events.js';
import { PUSH_EVENT_FORMATS } from '../push/push-events.js';
import { REACTION_EVENT_FORMATS } from '../reactions/reaction-events.js';
import { ALLOWED_DOMAIN_EVENT_FORMATS } from '../realms/allowed-domains/allowed-domain.js';
import { LINKIFIER_EVENT_FORMATS } from '../realms/linkifiers/linkifier.js';
import { PLAYGROUND_EVENT_FORMATS } from '../realms/playgrounds/playground.js';
import { REALM_EVENT_FORMATS } from '../realms/realm-events.js';
import { REALM_SETTINGS_EVENT_FORMATS } from '../realms/realm-settings-events.js';
import { SCHEDULING_EVENT_FORMATS } from '../scheduling/scheduling-events.js';
import { SNIPPET_EVENT_FORMATS } from '../snippets/snippet-events.js';
import { STATUS_EVENT_FORMATS } from '../statuses/status-events.js';
import { PROFILE_EVENT_FORMATS } from '../users/profile-events.js';
import { USER_EVENT_FORMATS } from '../users/user-events.js';
import { USER_SETTINGS_EVENT_FORMATS } from '../users/user-settings-events.js';
import { parseAudience } from './audiences.js';

/** Of every feature. */
const FORMATS: EventFormats<DomainEventTypes> = {
  ...ALLOWED_DOMAIN_EVENT_FORMATS,
  ...BASE_EVENT_FORMATS,
  ...CHANNEL_EVENT_FORMATS,
  ...CHANNEL_FOLDER_EVENT_FORMATS,
  ...CUSTOM_EMOJI_EVENT_FORMATS,
  ...EXPORT_EVENT_FORMATS,
  ...FILE_EVENT_FORMATS,
  ...GROUP_EVENT_FORMATS,
  ...INVITATION_EVENT_FORMATS,
  ...LINKIFIER_EVENT_FORMATS,
  ...MESSAGE_EVENT_FORMATS,
  ...PLAYGROUND_EVENT_FORMATS,
  ...BOT_EVENT_FORMATS,
  ...PROFILE_EVENT_FORMATS,
  ...PUSH_EVENT_FORMATS,
  ...DRAFT_EVENT_FORMATS,
  ...ALERT_WORD_EVENT_FORMATS,
  ...MUTED_USER_EVENT_FORMATS,
  ...NAVIGATION_VIEW_EVENT_FORMATS,
  ...ONBOARDING_EVENT_FORMATS,
  ...SNIPPET_EVENT_FORMATS,
  ...STATUS_EVENT_FORMATS,
  ...REACTION_EVENT_FORMATS,
  ...REALM_EVENT_FORMATS,
  ...REALM_SETTINGS_EVENT_FORMATS,
  ...SCHEDULING_EVENT_FORMATS,
  ...USER_EVENT_FORMATS,
  ...USER_SETTINGS_EVENT_FORMATS,
};

export const {
  encodeEvent,
  decodeEvent,
  sizeOf: sizeOfEvent,
  blankEvent: BLANK_EVENT,
} = eventEncoding(FORMATS, parseAudience);
