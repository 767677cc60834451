import type { DraftId } from '@parley/domain/kernel';
import {
  ChangeDraft,
  type ChangeDraftInput,
  CreateDrafts,
  DeleteDraft,
  type Draft,
  type DraftEventTypes,
  type DraftInput,
  ListDrafts,
  loadDrafts,
  mustSynchronizeDrafts,
} from '@parley/domain/messages';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type RoleRequirement, type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { PresentedList, presentLongList } from '../kernel/json-lists.js';
import {
  float,
  integer,
  listOf,
  MAX_IDS,
  MAX_JSON_LENGTH,
  MAX_NAMES,
  MAX_TEXT_LENGTH,
  MAX_TIME,
  type ObjectOf,
  object,
  oneOf,
  optional,
  text,
} from '../kernel/param-types.js';
import { IntegerParam, NoParameters, param } from '../kernel/params.js';
import { YieldingScheduler } from '../limits/yielding.js';
import type { WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { CONTENT } from './message.dtos.js';

/** Users §17. */
export const draft = wire.named(
  'Draft',
  wire.fields({
    id: wire.integer(),
    type: wire.oneOf('stream', 'private', ''),
    to: wire.listOf(wire.integer()),
    topic: wire.text(),
    content: wire.text(),
    timestamp: wire.integer(),
  }),
);

export const DRAFT_WIRE_ERRORS = {
  UNKNOWN_DRAFT: { status: 404 },
} as const satisfies WireErrors;

const SHAPE = {
  type: oneOf(['private', 'stream', '']),
  to: listOf(integer(), { max: MAX_IDS }),
  topic: text({ max: MAX_TEXT_LENGTH }),
  content: text({ ...CONTENT, notBlank: true }),
  timestamp: optional(float({ max: MAX_TIME })),
};
type WireDraft = ObjectOf<typeof SHAPE>;
const draftParameter = object(SHAPE);

export class CreateDraftsDto {
  @param(listOf(draftParameter, { max: MAX_NAMES, jsonLength: MAX_JSON_LENGTH }), { description: 'Drafts to create.' })
  drafts!: WireDraft[];
}

export class ChangeDraftDto {
  @IntegerParam() draft_id!: number;
  @param(draftParameter, { description: 'New properties of the draft.' }) draft!: WireDraft;
}

export class DeleteDraftDto {
  @IntegerParam() draft_id!: number;
}

const KINDS = { private: 'direct', stream: 'channel', '': 'nobody' } as const;

const toDraftInput = ({ type, to, topic, content, timestamp }: WireDraft): DraftInput => ({
  kind: KINDS[type],
  to,
  topic,
  content,
  editedAt: timestamp ?? null,
});

export const toCreateDraftsInput = ({ drafts }: CreateDraftsDto): readonly DraftInput[] => drafts.map(toDraftInput);

export const toChangeDraftInput = (dto: ChangeDraftDto): ChangeDraftInput => ({
  id: dto.draft_id as DraftId,
  draft: toDraftInput(dto.draft),
});

export const toDraftId = ({ draft_id }: DeleteDraftDto) => ({ id: draft_id as DraftId });

/** Users §17. */
export const presentDraft = ({ id, to, content, editedAt }: Draft) => ({
  id,
  ...presentAddressee(to),
  content,
  timestamp: Math.floor(editedAt),
});

function presentAddressee(to: Draft['to']) {
  switch (to.kind) {
    case 'channel':
      return { type: 'stream', to: [to.channelId], topic: to.topic };
    case 'direct':
      return { type: 'private', to: to.userIds, topic: '' };
    case 'nobody':
      return { type: '', to: [], topic: '' };
  }
}

export const DRAFT_EVENTS = {
  'draft.added': toAll(form('drafts', { op: wire.oneOf('add'), drafts: wire.listOf(draft) }), ({ drafts }) => ({
    op: 'add',
    drafts: drafts.map(presentDraft),
  })),
  'draft.changed': toAll(form('drafts', { op: wire.oneOf('update'), draft }), (event) => ({
    op: 'update',
    draft: presentDraft(event.draft),
  })),
  'draft.removed': toAll(form('drafts', { op: wire.oneOf('remove'), draft_id: wire.integer() }), ({ id }) => ({
    op: 'remove',
    draft_id: id,
  })),
} satisfies Presenters<keyof DraftEventTypes>;

export const draftsSection: RegisterSection = registerSection({
  name: 'drafts',
  fields: { drafts: wire.listOf(draft) },
  forSpectators: { drafts: [] },
  load: (snapshot) => snapshot.load(loadDrafts),
  present: (drafts) => ({ drafts: new PresentedList(drafts, presentDraft) }),
});

const mustSynchronize: RoleRequirement = ({ synchronizesDrafts }) =>
  mustSynchronizeDrafts({ settings: { enableDraftsSynchronization: synchronizesDrafts } });

const OF_SYNCHRONIZED = { auth: 'user', roleRequirements: [mustSynchronize] } as const;

export function draftRoutes(): readonly Route[] {
  const scheduler = new YieldingScheduler();
  return [
    route('GET', '/drafts', {
      summary: 'List drafts',
      section: 'users §17',
      ...OF_SYNCHRONIZED,
      dto: NoParameters,
      useCase: ListDrafts,
      response: wire.fields({ count: wire.integer(), drafts: wire.listOf(draft) }),
      present: (drafts) =>
        presentLongList(scheduler, 'drafts', new PresentedList(drafts, presentDraft), { count: drafts.length }),
    }),
    route('POST', '/drafts', {
      summary: 'Create drafts',
      section: 'users §17',
      ...OF_SYNCHRONIZED,
      dto: CreateDraftsDto,
      useCase: CreateDrafts,
      toInput: toCreateDraftsInput,
      response: wire.fields({ ids: wire.listOf(wire.integer()) }),
      present: (ids) => ({ ids }),
    }),
    route('PATCH', '/drafts/:draft_id', {
      summary: 'Change a draft',
      section: 'users §17',
      ...OF_SYNCHRONIZED,
      dto: ChangeDraftDto,
      useCase: ChangeDraft,
      toInput: toChangeDraftInput,
    }),
    route('DELETE', '/drafts/:draft_id', {
      summary: 'Delete a draft',
      section: 'users §17',
      ...OF_SYNCHRONIZED,
      dto: DeleteDraftDto,
      useCase: DeleteDraft,
      toInput: toDraftId,
    }),
  ];
}

export const DRAFTS = {
  tag: 'Drafts, snippets and schedules',
  routes: draftRoutes,
  events: DRAFT_EVENTS,
  errors: DRAFT_WIRE_ERRORS,
  registerSections: () => [draftsSection],
} satisfies HttpFeature;
