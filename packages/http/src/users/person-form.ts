import { type EventForm, form } from '../events/event-forms.js';
import * as wire from '../kernel/wire-schema.js';

/** Something else of somebody (events §7.3). */
export const personForm = (shape: wire.Shape): EventForm =>
  form('realm_user', { op: wire.oneOf('update'), person: wire.fields({ user_id: wire.integer(), ...shape }) });

/** What `presentAvatar` answers. */
export const AVATAR = personForm({
  avatar_source: wire.oneOf('G', 'J', 'U'),
  avatar_url: wire.nullable(wire.text()),
  avatar_url_medium: wire.nullable(wire.text()),
  avatar_version: wire.integer(),
});

/** What stands for the address. */
export const SHOWN_EMAIL = personForm({ new_email: wire.text() });

/** Null: it is hidden from now on. */
export const DELIVERY_EMAIL = personForm({ delivery_email: wire.nullable(wire.text()) });
