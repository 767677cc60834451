import * as wire from '../wire/schema.js';
import { eventSchema, form, formWithout, propertyForms } from './event-presenter.js';

it('event schema describes each event form once by its type', () => {
  const removed = form('drafts', { op: wire.oneOf('remove'), draft_id: wire.integer() });
  const schema = eventSchema([form('heartbeat'), removed, removed, formWithout('all', 'drafts', { ids: wire.text() })]);
  const id = { type: 'integer', format: 'int64' };
  expect(schema.json).toEqual({
    title: 'Event',
    anyOf: [
      {
        title: 'DraftsEvent',
        anyOf: [
          {
            type: 'object',
            properties: { id, type: { enum: ['drafts'] }, op: { enum: ['remove'] }, draft_id: id },
            required: ['id', 'type', 'op', 'draft_id'],
            additionalProperties: false,
          },
          expect.objectContaining({ deprecated: true, description: 'For clients without `all`.' }),
        ],
      },
      expect.objectContaining({ title: 'HeartbeatEvent', required: ['id', 'type'] }),
    ],
  });
});

it('propertyForms groups properties with values of the same kind', () => {
  const values = { is_muted: wire.boolean(), color: wire.text(), pin_to_top: wire.boolean() };
  const forms = propertyForms(values, (shape) => form('subscription', shape));
  expect(forms.map(({ schema }) => schema.json.properties)).toEqual([
    expect.objectContaining({ property: { enum: ['is_muted', 'pin_to_top'] }, value: { type: 'boolean' } }),
    expect.objectContaining({ property: { enum: ['color'] }, value: { type: 'string' } }),
  ]);
});
