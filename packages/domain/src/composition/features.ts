import { CONFIRMATION_FEATURE } from '../access/confirmation.js';
import { CREDENTIAL_FEATURE } from '../access/session.js';
import { CHANNEL_FEATURE } from '../channels/channel-events.js';
import { CHANNEL_FOLDER_FEATURE } from '../channels/channel-folder-events.js';
import { EXPORT_FEATURE } from '../exports/export-events.js';
import { CUSTOM_EMOJI_FEATURE } from '../files/custom-emoji-events.js';
import { FILE_FEATURE } from '../files/file-events.js';
import { PICTURE_FEATURE } from '../files/use-cases/read-picture.js';
import type { FileUser } from '../files/use-cases/sweep-files.js';
import { GROUP_FEATURE } from '../groups/group-events.js';
import { type DomainEventTypes, EVENT_FEATURE, type EventFormats, type NotExported } from '../kernel/event.js';
import { JOB_FEATURE } from '../kernel/job-repository.js';
import { BOT_FEATURE } from '../membership/bot-events.js';
import { HOST_USER_FEATURE } from '../membership/external-id.js';
import { INVITATION_FEATURE } from '../membership/invitation.js';
import { DRAFT_FEATURE } from '../messages/draft-events.js';
import { MESSAGE_FEATURE } from '../messages/message-events.js';
import { MUTED_USER_FEATURE } from '../messages/muted-user-events.js';
import { NAVIGATION_VIEW_FEATURE } from '../messages/navigation-view-events.js';
import { REACTION_FEATURE } from '../messages/reaction-events.js';
import { SCHEDULING_FEATURE } from '../messages/scheduling-events.js';
import { SNIPPET_FEATURE } from '../messages/snippet-events.js';
import { PUSH_FEATURE } from '../push/push-events.js';
import { ALLOWED_DOMAIN_FEATURE } from '../realms/allowed-domains/allowed-domain.js';
import { LINKIFIER_FEATURE } from '../realms/linkifiers/linkifier.js';
import { PLAYGROUND_FEATURE } from '../realms/playgrounds/playground.js';
import { REALM_FEATURE } from '../realms/realm-events.js';
import { REALM_SETTINGS_FEATURE } from '../realms/realm-settings-events.js';
import { ALERT_WORD_FEATURE } from '../users/alert-word-events.js';
import { ONBOARDING_FEATURE } from '../users/onboarding-events.js';
import { PROFILE_FEATURE } from '../users/profile-events.js';
import { STATUS_FEATURE } from '../users/status-events.js';
import { USER_FEATURE } from '../users/user-events.js';
import { USER_SETTINGS_FEATURE } from '../users/user-settings-events.js';

/** A feature's share of the domain. */
export interface DomainFeature {
  readonly eventFormats?: Partial<EventFormats<DomainEventTypes>>;
  /** Needs files beside messages. */
  readonly fileUser?: FileUser;
  readonly notExported?: NotExported;
}

/** All features with a part of their own. */
const ALL = [
  ALERT_WORD_FEATURE,
  BOT_FEATURE,
  CHANNEL_FEATURE,
  CHANNEL_FOLDER_FEATURE,
  CUSTOM_EMOJI_FEATURE,
  DRAFT_FEATURE,
  EVENT_FEATURE,
  EXPORT_FEATURE,
  FILE_FEATURE,
  GROUP_FEATURE,
  INVITATION_FEATURE,
  MESSAGE_FEATURE,
  MUTED_USER_FEATURE,
  NAVIGATION_VIEW_FEATURE,
  ONBOARDING_FEATURE,
  PUSH_FEATURE,
  REACTION_FEATURE,
  ALLOWED_DOMAIN_FEATURE,
  LINKIFIER_FEATURE,
  PLAYGROUND_FEATURE,
  REALM_FEATURE,
  REALM_SETTINGS_FEATURE,
  SCHEDULING_FEATURE,
  SNIPPET_FEATURE,
  STATUS_FEATURE,
  PROFILE_FEATURE,
  USER_FEATURE,
  USER_SETTINGS_FEATURE,
  PICTURE_FEATURE,
  CREDENTIAL_FEATURE,
  CONFIRMATION_FEATURE,
  HOST_USER_FEATURE,
  JOB_FEATURE,
] as const satisfies readonly DomainFeature[];

export const FEATURES: readonly DomainFeature[] = ALL;

type FormatsOf<F> = F extends { readonly eventFormats: infer Formats } ? keyof Formats : never;

/** The compiler reports an event here that no feature has a format for. */
export const EVENT_FORMATS: EventFormats<DomainEventTypes> = Object.assign(
  {},
  ...FEATURES.map(({ eventFormats }) => eventFormats),
) as Record<FormatsOf<(typeof ALL)[number]>, number>;

/** Features that need files beside messages. */
export const FILE_USERS: readonly FileUser[] = FEATURES.flatMap(({ fileUser }) => fileUser ?? []);
