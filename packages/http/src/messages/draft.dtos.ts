import type { DraftId } from '@parley/domain/kernel';
import type { ChangeDraftInput, DraftInput } from '@parley/domain/messages';
import { MAX_TIME } from '../kernel/calendar.js';
import { MAX_IDS, MAX_JSON_LENGTH, MAX_NAMES, MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { float, integer, listOf, type ObjectOf, object, oneOf, optional, text } from '../kernel/param-types.js';
import { IntegerParam, param } from '../kernel/params.js';
import { CONTENT } from './message.dtos.js';

const SHAPE = {
  type: oneOf('private', 'stream', ''),
  to: listOf(integer(), { max: MAX_IDS }),
  topic: text({ max: MAX_TEXT_LENGTH }),
  content: text({ ...CONTENT, notBlank: true }),
  timestamp: optional(float({ max: MAX_TIME })),
};
type WireDraft = ObjectOf<typeof SHAPE>;
const draft = object(SHAPE);

export class CreateDraftsDto {
  @param(listOf(draft, { max: MAX_NAMES, jsonLength: MAX_JSON_LENGTH })) drafts!: WireDraft[];
}

export class ChangeDraftDto {
  @IntegerParam() draft_id!: number;
  @param(draft) draft!: WireDraft;
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
