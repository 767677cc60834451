import * as wire from '../kernel/wire-schema.js';

const status = wire.oneOf('active', 'idle', 'offline');

/** Users §8.2, in either form: by ids with times, or by addresses with what each client says. */
export const presenceTimes = wire.fields({ active_timestamp: wire.integer(), idle_timestamp: wire.integer() });
export const presenceByClient = wire.dictionaryOf(
  wire.fields({
    client: wire.text(),
    status,
    timestamp: wire.integer(),
    pushable: wire.optional(wire.boolean()),
  }),
);
const entry = wire.anyOf(presenceTimes, presenceByClient);

export const PRESENCES = {
  presences: wire.dictionaryOf(entry),
  server_timestamp: wire.number(),
  presence_last_update_id: wire.integer(),
};

export const ALL_PRESENCES = wire.fields(PRESENCES);

/** Nothing of them where the call says only that it is there (users §8.1). */
export const REPORTED_PRESENCE = wire.fields({
  presences: wire.optional(PRESENCES.presences),
  server_timestamp: wire.optional(PRESENCES.server_timestamp),
  presence_last_update_id: wire.optional(PRESENCES.presence_last_update_id),
});

/** Users §8.3. */
export const ONE_PRESENCE = wire.fields({
  presence: wire.dictionaryOf(wire.fields({ status, timestamp: wire.integer() })),
});
