import type { FeatureParts } from '../kernel/event.js';
import type { ProfileFieldId, UserId } from '../kernel/ids.js';
import type { ProfileField } from './profile-field.js';

export interface ProfileEventTypes {
  /** To everybody: all fields as they are, in order. */
  'profile.fields_changed': { readonly fields: readonly ProfileField[] };
  /** To everybody who may know the user. `value` null: they have none any more. */
  'profile.value_changed': {
    readonly userId: UserId;
    readonly fieldId: ProfileFieldId;
    readonly value: string | null;
    readonly rendered: string | null;
  };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends ProfileEventTypes {}
}

export const PROFILE_FEATURE = {
  eventFormats: {
    'profile.fields_changed': 1,
    'profile.value_changed': 1,
  },
} satisfies FeatureParts<ProfileEventTypes>;
