export { FileMetadata } from './file-metadata.js';
export { type DocumentReader, FileTexts } from './file-texts.js';
export { openHeic } from './heic.js';
export { findImageScript, ImageProcess } from './image-process.js';
export { SharpImageProcessor } from './sharp-image-processor.js';
