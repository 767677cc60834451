import '@infolektuell/noto-color-emoji/index.css';
