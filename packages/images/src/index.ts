export { SharpImageProcessor } from './sharp-image-processor.js';
