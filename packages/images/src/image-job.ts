import {
  corruptAnimation,
  type ImageInfo,
  type ImageTarget,
  imageTooLarge,
  type ProcessedImage,
  unknownAnimationFormat,
  unreadableImage,
} from '@parley/domain/files';
import { DomainError } from '@parley/domain/kernel';
import type { SharpImageProcessor } from './sharp-image-processor.js';

/** What is asked of the process; `target`: null to look at the image only. */
export interface ImageJob {
  readonly image: Uint8Array;
  readonly target: ImageTarget | null;
}

/** What it answers: a refusal by its code, since errors do not travel. */
export type ImageAnswer = { readonly result: ImageInfo | ProcessedImage } | { readonly refusal: Refusal };

const REFUSALS = {
  UNREADABLE_IMAGE: unreadableImage,
  IMAGE_TOO_LARGE: imageTooLarge,
  CORRUPT_ANIMATION: corruptAnimation,
  UNKNOWN_ANIMATION_FORMAT: unknownAnimationFormat,
};
type Refusal = keyof typeof REFUSALS;

/** Does the work, in whatever process. */
export async function answerJob(processor: SharpImageProcessor, { image, target }: ImageJob): Promise<ImageAnswer> {
  try {
    return { result: target === null ? await processor.inspect(image) : await processor.resize(image, target) };
  } catch (error) {
    const code = error instanceof DomainError ? error.code : '';
    return { refusal: code in REFUSALS ? (code as Refusal) : 'UNREADABLE_IMAGE' };
  }
}

/** @throws DomainError of the refusal */
export function resultOf(answer: ImageAnswer): ImageInfo | ProcessedImage {
  if ('refusal' in answer) throw REFUSALS[answer.refusal]();
  return answer.result;
}
