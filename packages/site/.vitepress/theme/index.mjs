import DefaultTheme from 'vitepress/theme';
import './narrow-tables.css';

export default DefaultTheme;
