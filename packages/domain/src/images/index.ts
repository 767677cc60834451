import './image-errors.js';

export { type GivenImage, MAX_IMAGE_MIB } from './given-image.js';
export {
  corruptAnimation,
  type ImageFormat,
  type ImageInfo,
  type ImageProcessor,
  type ImageTarget,
  imageTooLarge,
  MAX_FRAMES,
  MAX_IMAGE_PIXELS,
  MAX_WHOLE_PIXELS,
  type ProcessedImage,
  unknownAnimationFormat,
  unreadableImage,
} from './image-processor.js';
